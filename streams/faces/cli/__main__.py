"""`python -m groundwire.streams.faces.cli`: the command where its script is not on the PATH."""

from groundwire.streams.faces.cli.start import run_command

run_command()
