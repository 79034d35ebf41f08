throw new Error('the disk is full');
