"""The questions that programs can ask. Each question has parameters and a function that computes the
answer.
"""
