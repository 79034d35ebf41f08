// Records the examples of the API reference from a service of their own.
import { requireNode } from '../require-node.mjs';

requireNode();
const { writeExamples } = await import('../../src/tools/examples/command.ts');
// Nothing else of the environment: settings of the user's own would be recorded.
await writeExamples({ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' });
