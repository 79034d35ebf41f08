import { openDataDir } from '../../../../src/platform/data-dir/data-dir.ts';

/** A process that opens the folder it is told, says how that went, and holds it until it is ended. */
try {
  await openDataDir(process.argv[2]);
  process.send?.({ open: true });
} catch (error) {
  process.send?.({ open: false, ...(error as object), message: (error as Error).message }, () => process.exit(1));
}
process.on('disconnect', () => process.exit(0));
