#!/usr/bin/env node
import { requireNode } from './require-node.mjs';

requireNode();
const { runSvcCommand } = await import('../src/cli/svc.ts');
await runSvcCommand(process.argv.slice(2), process.env);
