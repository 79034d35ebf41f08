// Records the examples of the API reference from a service of their own.
import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';

requireNode();
printHelpIfAsked('Usage: npm run docs:examples\n\nRecords the examples of the API reference from a service of its own.');
const { writeExamples } = await import('../../src/tools/examples/command.ts');
// Nothing else of the environment: settings of the user's own would be recorded.
await writeExamples({ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' });
