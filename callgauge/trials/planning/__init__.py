"""What is to be tried: the plan, the tasks, and what they come to before anything is asked."""
