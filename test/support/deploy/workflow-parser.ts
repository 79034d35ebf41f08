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

type Parse = (file: { name: string; content: string }, trace: unknown) => Parsed;

interface Parser {
  parseWorkflow: Parse;
  parseAction: Parse;
  convertWorkflowTemplate(context: Parsed['context'], root: unknown): Promise<{ errors?: { Message: string }[]; jobs: WorkflowJob[] }>;
  NoOperationTraceWriter: new () => object;
}

export interface ParsedWorkflow {
  errors: string[];
  jobs: WorkflowJob[];
}

/** GitHub's parser. Node cannot load the package as it is: its imports of JSON have no attribute. */
async function loadParser(): Promise<Parser> {
  const resolveDir = resolve(ROOT, 'test/deploy');
  const name = '@actions/workflow-parser';
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${name}'; export { parseAction } from '${name}/actions/action-parser';`, resolveDir },
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', logLevel: 'warning' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const file = resolve(resolveDir, 'node_modules/.workflow-parser.mjs');
  await writeFile(file, outputFiles[0]!.text);
  return import(pathToFileURL(file).href);
}

export async function loadWorkflowParser(): Promise<(name: string, content: string) => Promise<ParsedWorkflow>> {
  const { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter } = await loadParser();
  return async (name, content) => {
    const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    const { errors = [], jobs = [] } = await convertWorkflowTemplate(context, value);
    return { errors: errors.map(({ Message }) => Message), jobs };
  };
}

/** Errors of a file `action.yml`. */
export async function loadActionParser(): Promise<(content: string) => string[]> {
  const { parseAction, NoOperationTraceWriter } = await loadParser();
  return (content) => {
    const { context } = parseAction({ name: 'action.yml', content }, new NoOperationTraceWriter());
    return context.errors.getErrors().map(({ message }) => message);
  };
}
