TABLE gates
