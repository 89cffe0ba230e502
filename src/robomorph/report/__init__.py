"""What shows: figures as data, one SVG writer, one way to matplotlib. Only the top floor needs it."""
