"""A report as one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from groundwire.lake.reports.html.page import render

__all__ = ["render"]
