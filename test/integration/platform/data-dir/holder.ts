import { openDataDir } from '../../../../src/platform/data-dir.ts';

/** A process that opens the given folder, reports the result, and holds the lock until it ends. */
try {
  await openDataDir(process.argv[2]);
  process.send?.({ open: true });
} catch (error) {
  process.send?.({ open: false, ...(error as object), message: (error as Error).message }, () => process.exit(1));
}
process.on('disconnect', () => process.exit(0));
