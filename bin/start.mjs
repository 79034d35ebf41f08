import { requireNodeVersion } from './require-node.mjs';

requireNodeVersion();
const { collectWhenIdle } = await import('./service/idle-collection.mjs');
const { useStrippedTypes } = await import('./service/stripped-types.mjs');
collectWhenIdle();
useStrippedTypes();
const { runService } = await import('../src/main.ts');
await runService();
