"""The questions (API queries) that programs can ask. Each has parameters and a function that computes the
answer.
"""
