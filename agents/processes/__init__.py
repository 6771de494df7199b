"""Players in processes of their own: programs in any language, timed agents, OpenSpiel's bots."""
