"""The layer between the network and Streamlit, which authenticates requests and sets headers on answers."""
