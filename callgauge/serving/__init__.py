"""What stands between the network and Streamlit: who may ask, and what every answer carries."""
