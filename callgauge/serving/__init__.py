"""The layer between the network and Streamlit: it authenticates requests and sets headers on every answer."""
