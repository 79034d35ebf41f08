import { listSchemaPaths } from './schema-paths.ts';

/** All modules of schemas, found by their names. The bundle of the service has a module in the place of this one that names them. */
export const SCHEMA_MODULES: readonly object[] = await Promise.all(listSchemaPaths().map((path) => import(path)));
