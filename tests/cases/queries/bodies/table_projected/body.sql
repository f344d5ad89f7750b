SELECT upper(nm) AS name, code FROM carriers
