// Started by action.yml: runs svc audit, writes the summary of the job, keeps one open issue where something differs, and the schedule alive.
// Exit codes: 0 the record agrees, 1 it differs, 2 that cannot be said.
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const { RUNNER_TEMP, SERVICE, RPC, ATTESTER, OPTIONS = '', ISSUE_TOKEN, GITHUB_API_URL, GITHUB_REPOSITORY } = process.env;
const { PATH, HOME, GITHUB_STEP_SUMMARY, GITHUB_OUTPUT, GITHUB_SERVER_URL, GITHUB_RUN_ID, GITHUB_WORKFLOW_REF = '' } = process.env;
const RESULTS = {
  agrees: { code: 0, title: 'The record agrees with the chain' },
  differs: { code: 1, title: 'The record DIFFERS from the chain' },
  unknown: { code: 2, title: 'The record could not be checked' },
};
const LABEL = 'record-differs';
/** An issue has at most 65,536 characters, which escaping multiplies. */
const MAX_CHARACTERS = 12_000;

const { report, errors } = audit();
const result = report?.verdict === 'agrees' || report?.verdict === 'differs' ? report.verdict : 'unknown';
const { code, title } = RESULTS[result];
const body = formatBody();
const stopping = await keepSchedule().catch((error) => error.message);
appendFileSync(GITHUB_STEP_SUMMARY, `## ${title}\n\n${body}\n\n${formatSchedule()}\n`);
appendFileSync(GITHUB_OUTPUT, `result=${result}\n`);
// Nothing of a report goes to the log, where a line can be a command to the runner.
console.log(code === 0 ? title : `::error title=${title}::The summary of this run has the details`);
if (stopping !== null) console.log('::warning title=The schedule may stop::The summary of this run says why');
process.exitCode = code;
if (result === 'differs' && ISSUE_TOKEN) await keepIssue();

/** Null is a report that could not be made. A crash has the exit code of a difference, so that the report decides. */
function audit() {
  const words = ['audit', '--json', '--service', SERVICE, '--rpc', RPC, '--attester', ATTESTER, ...OPTIONS.split(/\s+/).filter(Boolean)];
  // The package gets no token.
  const options = { encoding: 'utf8', maxBuffer: 1e9, env: { PATH, HOME } };
  const { stdout, stderr, error } = spawnSync(`${RUNNER_TEMP}/svc/node_modules/.bin/svc`, words, options);
  try {
    return { report: JSON.parse(stdout), errors: '' };
  } catch {
    return { report: null, errors: stderr || String(error) };
  }
}

function formatBody() {
  const run = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
  const lines = report === null ? [errors] : [report.summary, ...report.differences.map(({ check, message }) => `[${check}] ${message}`)];
  const gaps = report?.incomplete.map((reason) => `Could not be checked: ${reason}`) ?? [];
  return `[This run](${run}) of \`svc audit\` says:\n\n<pre>${escapeMarkup([...lines, ...gaps].join('\n'))}</pre>`;
}

/** As text in markup: words of a service are neither links, nor mentions, nor an end of the block. */
function escapeMarkup(text) {
  const shown = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n...` : text;
  return shown.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * GitHub disables the schedules of a public repository after 60 days without a commit. Enabling the workflow, also an enabled one, begins
 * these days anew. Returns why that cannot be done; null where it is done.
 */
async function keepSchedule() {
  const [, file] = /\/([^/@]+)@/.exec(GITHUB_WORKFLOW_REF) ?? [];
  if (!ISSUE_TOKEN) return 'the action has no token';
  await callGithub('PUT', `actions/workflows/${file}/enable`);
  return null;
}

function formatSchedule() {
  if (stopping === null) return 'The schedule goes on for 60 days from this run, which has enabled its workflow again.';
  const rule = 'GitHub stops the schedule of a public repository after 60 days without a commit, and says so nowhere else';
  return `${rule}. This run could not enable its workflow again (needs a token with actions write): ${escapeMarkup(stopping)}.`;
}

async function keepIssue() {
  const open = await callGithub('GET', `issues?state=open&labels=${LABEL}`);
  const issue = open.find(({ pull_request: pull }) => pull === undefined);
  if (issue === undefined) await callGithub('POST', 'issues', { title, body, labels: [LABEL] });
  else await callGithub('PATCH', `issues/${issue.number}`, { body });
}

async function callGithub(method, path, content) {
  const headers = { authorization: `Bearer ${ISSUE_TOKEN}`, accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };
  const url = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`;
  const response = await fetch(url, { method, headers, body: content && JSON.stringify(content) });
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
  return response.status === 204 ? null : response.json();
}
