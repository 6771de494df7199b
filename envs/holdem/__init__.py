"""No-Limit Texas Hold'em: rules, evaluator, menus, observations, pictures and hand histories."""
