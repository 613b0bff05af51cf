"""How a vendor is spoken to: one YAML file a provider, one shared HTTP client, and one outcome for every call.

`registry.Registry` loads the provider files; `provider.Provider` makes a call and never raises; what a file can't say is one
module in `dedicated/`. Nothing outside `http.py` knows the HTTP client, and no code outside `dedicated/` knows a vendor's name.
"""
