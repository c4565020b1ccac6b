"""The layer between the network and Streamlit: authenticates requests and sets headers on responses."""
