import { matchesFilter, type OperationFacts, type OperationFilter } from './operation-filter.ts';

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
}

interface System {
  layoutActions: { updateFilter(filter: string | false): void };
  specSelectors: { taggedOperations(): TaggedOperations };
}

declare const SwaggerUIBundle: {
  (options: object): { getSystem(): System };
  presets: { apis: unknown };
};

export interface Viewer {
  /** Shows the operations that match. */
  filter(wanted: OperationFilter): void;
  /** Operations that are shown. */
  count(): number;
}

/** Starts Swagger UI, without requests to other hosts. @param onComplete the document has been rendered */
export function startViewer(domNode: HTMLElement, url: string, onComplete: () => void): Viewer {
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
    docExpansion: 'list',
    persistAuthorization: false,
    // Its colours, which are inline styles, have too little contrast.
    syntaxHighlight: false,
    // The default sends the document to a validator of another host.
    validatorUrl: null,
  });
  return {
    filter: (wanted) => getSystem().layoutActions.updateFilter(Object.values(wanted).join('') === '' ? false : JSON.stringify(wanted)),
    count: () =>
      getSystem()
        .specSelectors.taggedOperations()
        .reduce((sum, tag) => sum + getOperations(tag).size, 0),
  };
}

/** Swagger UI passes the text of its own filter, which is the JSON of ours. */
function filterOperations(tags: TaggedOperations, phrase: string): TaggedOperations {
  const wanted = JSON.parse(phrase) as OperationFilter;
  return tags
    .map((tag) =>
      tag.set(
        'operations',
        getOperations(tag).filter((entry) => matchesFilter(toFacts(entry), wanted)),
      ),
    )
    .filter((tag) => getOperations(tag).size > 0);
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
