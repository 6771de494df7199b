"""The experiments of Liar's Dice."""
