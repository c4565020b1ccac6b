"""The commands `callgauge up` and `callgauge demo`: load logs, serve them, and follow them."""
