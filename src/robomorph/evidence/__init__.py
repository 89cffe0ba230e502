"""What the papers measured, run here and shown beside their figures: chapters, and one page made of them."""
