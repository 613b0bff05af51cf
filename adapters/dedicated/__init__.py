"""One module a vendor, for what its YAML file can't say. Each names its class `ADAPTER`."""
