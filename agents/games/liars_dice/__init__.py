"""Players of Liar's Dice: a rule, lie profiling, tables, and the match solved round by round."""
