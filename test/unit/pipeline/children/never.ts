// Runs forever, as a computation that does not end.
while (Date.now() > 0);
