"""What travels between stages: pydantic models of every topic, the table of topics, money, and the settings.

Pydantic and the standard library only, no I/O. Every other room of the house may import from here; this one imports from none.
"""
