"""The nightly job of a service, configured by callgauge.toml: load, retention, backup, report."""
