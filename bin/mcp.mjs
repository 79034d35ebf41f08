#!/usr/bin/env node
import { requireNode } from './require-node.mjs';

requireNode();
const { runMcpCommand } = await import('../src/cli/mcp.ts');
await runMcpCommand(process.argv.slice(2), process.env);
