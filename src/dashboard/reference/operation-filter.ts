/** What the reader looks for; an empty member matches everything. */
export interface OperationFilter {
  tag: string;
  access: string;
  text: string;
}

export interface OperationFacts {
  method: string;
  path: string;
  operationId: string;
  summary: string;
  description: string;
  tag: string;
  access: string;
}

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
