process.send!({ error: new Error('the disk is full') });
