"""Tool definitions: reads them from any provider's format or from Python functions, and writes them for
any provider.
"""
