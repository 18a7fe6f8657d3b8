"""What questions are made of: how they are declared, tried on an answer, and what they say."""
