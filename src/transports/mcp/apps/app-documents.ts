import { readFileSync } from 'node:fs';
import { APP_VIEWS, type AppView } from '../../../views/mcp-app/app-views.ts';

/** Where `npm run build:page` writes the documents. */
export const APP_FOLDER = new URL('../../../../dist/mcp-app/', import.meta.url);

/** HTML by view. */
export type AppDocuments = Readonly<Record<AppView, string>>;

export function getAppFileName(view: AppView): string {
  return `${view}.html`;
}

/** Undefined where they have not been built: tools then answer with text and data alone. */
export function readAppDocuments(folder: URL = APP_FOLDER): AppDocuments | undefined {
  try {
    const read = (view: AppView) => readFileSync(new URL(getAppFileName(view), folder), 'utf8');
    return Object.fromEntries(APP_VIEWS.map((view) => [view, read(view)])) as unknown as AppDocuments;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
