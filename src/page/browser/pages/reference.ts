import { byId } from '../dom.ts';

/** The API reference: Swagger UI, and a filter of its operations. */
export function mountReference() {
  const form = byId('reference-filter') as HTMLFormElement;
  const count = byId('reference-count');
  followTheme();
  completeAccessibility(byId('reference'));
  const url = new URL('.well-known/openapi.json', document.baseURI).href;
  removeBase();
  const viewer = startViewer(byId('reference'), url, applyFilter);
  form.addEventListener('input', applyFilter);
  form.addEventListener('submit', (event) => event.preventDefault());

  function applyFilter() {
    const { tag, access, text } = Object.fromEntries(new FormData(form)) as Record<string, string>;
    const wanted = { tag, access, text: text.trim() };
    byId('main').toggleAttribute('data-filtered', Object.values(wanted).join('') !== '');
    viewer.filter(wanted);
    const shown = viewer.count();
    count.textContent = shown === 1 ? '1 operation' : `${shown} operations`;
  }
}

/** Swagger UI writes `#...` into the address for a link to an operation, which a base would lead to the first page. */
function removeBase() {
  for (const link of document.links) link.setAttribute('href', link.href);
  for (const image of document.images) image.setAttribute('src', image.src);
  document.querySelector('base')?.remove();
}

/** Attributes that Swagger UI lacks, set whenever it has rendered. */
const FIXES: readonly (readonly [selector: string, attribute: string, value: string])[] = [
  // It is within the main content of the page.
  ['main', 'role', 'group'],
  ['main', 'aria-label', 'Operations'],
  ['.info .title', 'aria-level', '2'],
  ['h3', 'aria-level', '2'],
  ['h4', 'aria-level', '3'],
  ['h5', 'aria-level', '4'],
  ['.authorization__btn', 'aria-label', 'Takes a token or a payment'],
  ['.authorization__btn', 'title', 'Takes a token or a payment'],
  ['pre.microlight', 'tabindex', '0'],
  ['#servers', 'aria-label', 'Server'],
  ['.examples-select-element', 'aria-label', 'Example'],
  ['.content-type', 'aria-label', 'Media type'],
  ['.parameters select, .parameters input', 'aria-label', 'Value'],
];

/** Names controls, and puts headings and landmarks in order, as far as attributes can. */
function completeAccessibility(container: HTMLElement): void {
  let isScheduled = false;
  const apply = () => {
    isScheduled = false;
    for (const [selector, attribute, value] of FIXES)
      for (const element of container.querySelectorAll(selector)) element.setAttribute(attribute, value);
  };
  new MutationObserver(() => {
    if (!isScheduled) requestAnimationFrame(apply);
    isScheduled = true;
  }).observe(container, { childList: true, subtree: true });
}

/** The parts of Immutable and of Swagger UI that are used. */
interface ImmutableMap {
  get(key: string): unknown;
  set(key: string, value: unknown): ImmutableMap;
}

interface ImmutableList {
  filter(keep: (entry: ImmutableMap) => boolean): ImmutableList;
  readonly size: number;
}

/** Operations by tag; an ordered map. */
interface TaggedOperations {
  map(change: (tag: ImmutableMap) => ImmutableMap): TaggedOperations;
  filter(keep: (tag: ImmutableMap) => boolean): TaggedOperations;
  reduce(add: (sum: number, tag: ImmutableMap) => number, start: number): number;
  forEach(use: (tag: ImmutableMap, name: string) => void): void;
}

interface System {
  layoutActions: { updateFilter(filter: string | false): void; show(thing: readonly string[], isShown: boolean): void };
  specSelectors: { taggedOperations(): TaggedOperations };
}

declare const SwaggerUIBundle: {
  (options: object): { getSystem(): System };
  presets: { apis: unknown };
};

/** Starts Swagger UI, without requests to other hosts. @param onComplete the document has been rendered */
function startViewer(domNode: HTMLElement, url: string, onComplete: () => void) {
  const { getSystem } = SwaggerUIBundle({
    url,
    domNode,
    onComplete,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [{ fn: { opsFilter: filterOperations }, components: { FilterContainer: () => null } }],
    layout: 'BaseLayout',
    deepLinking: true,
    displayOperationId: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    docExpansion: 'none',
    persistAuthorization: false,
    // Its colours, which are inline styles, have too little contrast.
    syntaxHighlight: false,
    // The default sends the document to a validator of another host.
    validatorUrl: null,
  });
  return {
    /** Unfolds the operations that match; without a filter all are folded, as they are too many to draw. */
    filter(wanted: OperationFilter) {
      const { layoutActions, specSelectors } = getSystem();
      const isFiltered = Object.values(wanted).join('') !== '';
      layoutActions.updateFilter(isFiltered ? JSON.stringify(wanted) : false);
      specSelectors.taggedOperations().forEach((_, name) => {
        layoutActions.show(['operations-tag', name], isFiltered);
      });
    },
    /** Operations that are shown. */
    count: () =>
      getSystem()
        .specSelectors.taggedOperations()
        .reduce((sum, tag) => sum + getOperations(tag).size, 0),
  };
}

/** Swagger UI passes the text of its own filter, which is the JSON of ours. */
function filterOperations(tags: TaggedOperations, phrase: string): TaggedOperations {
  const wanted = JSON.parse(phrase) as OperationFilter;
  const select = (tag: ImmutableMap) => getOperations(tag).filter((entry) => matchesFilter(toFacts(entry), wanted));
  return tags.map((tag) => tag.set('operations', select(tag))).filter((tag) => getOperations(tag).size > 0);
}

function getOperations(tag: ImmutableMap): ImmutableList {
  return tag.get('operations') as ImmutableList;
}

function toFacts(entry: ImmutableMap): OperationFacts {
  const operation = entry.get('operation') as ImmutableMap;
  const read = (name: string) => String(operation.get(name) ?? '');
  return {
    method: String(entry.get('method')),
    path: String(entry.get('path')),
    operationId: read('operationId'),
    summary: read('summary'),
    description: read('description'),
    tag: String((operation.get('tags') as { first(): unknown }).first()),
    access: read('x-access'),
  };
}

/** What the reader looks for; an empty member matches everything. */
type OperationFilter = Record<'tag' | 'access' | 'text', string>;

type OperationFacts = Record<'method' | 'path' | 'operationId' | 'summary' | 'description' | 'tag' | 'access', string>;

/** Every word has to be part of the operation, wherever. */
export function matchesFilter(operation: OperationFacts, { tag, access, text }: OperationFilter): boolean {
  if (tag !== '' && operation.tag !== tag) return false;
  if (access !== '' && operation.access !== access) return false;
  const { method, path, operationId, summary, description } = operation;
  const searched = [method, path, operationId, summary, description].join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}

/** Swagger UI is dark below this class, which nothing else sets in the layout of this page. */
const DARK_CLASS = 'dark-mode';

/** Keeps the theme of Swagger UI equal to that of the page: the chosen one, else that of the system. */
function followTheme(): void {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => root.classList.toggle(DARK_CLASS, root.dataset.theme === undefined ? system.matches : root.dataset.theme === 'dark');
  apply();
  system.addEventListener('change', apply);
  new MutationObserver(apply).observe(root, { attributeFilter: ['data-theme'] });
}
