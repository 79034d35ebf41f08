import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from '../docs/documents.ts';

/** The text of a token of the parser. */
interface Text {
  toString(): string;
}

export interface WorkflowJob {
  id: Text;
  needs?: Text[];
  /** Of a job that is another workflow. */
  ref?: Text;
  steps?: { run?: Text; uses?: Text }[];
}

interface Parsed {
  context: { errors: { getErrors(): { message: string }[] } };
  value: unknown;
}

interface Parser {
  parseWorkflow(file: { name: string; content: string }, trace: unknown): Parsed;
  convertWorkflowTemplate(context: Parsed['context'], root: unknown): Promise<{ errors?: { Message: string }[]; jobs: WorkflowJob[] }>;
  NoOperationTraceWriter: new () => object;
}

export interface ParsedWorkflow {
  errors: string[];
  jobs: WorkflowJob[];
}

/** GitHub's parser of workflows. Node cannot load the package as it is: its imports of JSON have no attribute. */
export async function loadWorkflowParser(): Promise<(name: string, content: string) => Promise<ParsedWorkflow>> {
  const resolveDir = resolve(ROOT, 'test/deploy');
  const { outputFiles } = await build({
    stdin: { contents: "export * from '@actions/workflow-parser';", resolveDir },
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', logLevel: 'warning' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const file = resolve(resolveDir, 'node_modules/.workflow-parser.mjs');
  await writeFile(file, outputFiles[0]!.text);
  const { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter }: Parser = await import(pathToFileURL(file).href);
  return async (name, content) => {
    const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    const { errors = [], jobs = [] } = await convertWorkflowTemplate(context, value);
    return { errors: errors.map(({ Message }) => Message), jobs };
  };
}
