import { readFileSync } from 'node:fs';
import { renderMethodology } from '../../../../../agent-card/documents/methodology.ts';
import { renderSkillFile } from '../../../../../agent-card/documents/skill-file.ts';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import type { HttpDeps } from '../../deps.ts';

const DOCS_FOLDER = new URL('../../../../../docs/', import.meta.url);

export type DocumentDeps = Pick<HttpDeps, 'publicUrl' | 'version'>;

/** A Markdown text that is also a page. */
export interface DocumentPage {
  /** Path of the page, without the base. */
  path: string;
  /** Path of the Markdown, without the base. */
  markdownPath: string;
  /** Name in navigation and in the title of the browser. */
  label: string;
  description: string;
  /** Path of the page that this one belongs to; empty: the first page. */
  parent: string;
  /** File in `docs/`, to which links of other files refer; absent for a generated text. */
  file?: string;
  /** @throws if the folder `docs/` is not installed */
  readMarkdown(deps: DocumentDeps): string;
}

/** Pages of the header's navigation. */
export const MAIN_DOCUMENTS: readonly DocumentPage[] = [
  {
    path: 'method',
    markdownPath: ENDPOINTS.methodology.slice(1),
    label: 'Method',
    description: 'How forecasts are made, committed, resolved and scored, and what the record is worth.',
    parent: '',
    readMarkdown: renderMethodology,
  },
  {
    path: 'agents',
    markdownPath: ENDPOINTS.skillFile.slice(1),
    label: 'For agents',
    description: 'Step-by-step instructions for agents: skills, tokens, payments, MCP and A2A.',
    parent: '',
    readMarkdown: renderSkillFile,
  },
  readable('VERIFY', { path: 'verify', label: 'Verify', description: 'How to check a forecast, the record or a receipt without trust.' }),
  readable('OPERATE', {
    path: 'operate',
    label: 'Operate',
    description: 'How to run a real record: on Base, with real prices, for years.',
  }),
];

/** Texts below the main ones; `documents/{name}`. */
export const FURTHER_DOCUMENTS: readonly DocumentPage[] = [
  readable('MODEL', { parent: 'method', label: 'Model card', description: 'Inputs, method, results, failures and limits of the model.' }),
  readable('DATA', { parent: 'method', label: 'Data', description: 'Market data, inputs of the model, attestations, and the dataset.' }),
  readable('AUDIT', { parent: 'verify', label: 'Audit', description: 'The command that recomputes the record from chain and prices.' }),
  readable('PROMISES', { parent: 'verify', label: 'Promises', description: 'What the service guarantees, and the tests that check it.' }),
  readable('API', { parent: 'agents', label: 'API guide', description: 'Operations, login, limits, errors and conventions.' }),
  readable('ASSISTANTS', { parent: 'agents', label: 'Assistants', description: 'How to connect an assistant or an editor over MCP.' }),
  readable('CLI', { parent: 'agents', label: 'Command line', description: 'The commands of svc, a client of the service.' }),
  readable('EVENTS', { parent: 'agents', label: 'Events', description: 'Events over WebSocket and webhooks.' }),
  readable('PAYING', { parent: 'agents', label: 'Paying', description: 'Three ways to pay, retries, receipts and the ledger.' }),
  readable('CONTEST', { parent: 'agents', label: 'Contest', description: 'Rules and scoring of the contest against the oracle.' }),
  readable('SETTINGS', { parent: 'operate', label: 'Settings', description: 'All settings of the service.' }),
];

export const DOCUMENT_PAGES: readonly DocumentPage[] = [...MAIN_DOCUMENTS, ...FURTHER_DOCUMENTS];

/** A file of `docs/`, whose Markdown is served as `documents/{name}.md`. */
function readable(name: string, page: Pick<DocumentPage, 'label' | 'description'> & { path?: string; parent?: string }): DocumentPage {
  const file = `${name}.md`;
  const readMarkdown = () => readFileSync(new URL(file, DOCS_FOLDER), 'utf8');
  const path = `documents/${name.toLowerCase()}`;
  return { path, parent: '', ...page, markdownPath: `${path}.md`, file, readMarkdown };
}
