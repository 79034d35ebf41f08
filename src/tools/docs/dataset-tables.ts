import { DATASET_TABLES, TABLE_NAMES } from '../../record/dataset/tables.ts';

/** The tables of the dataset with their columns, in Markdown. */
export function renderDatasetTables(): string {
  const rows = TABLE_NAMES.flatMap((table) =>
    DATASET_TABLES[table].columns.map(
      ({ name, type, origin = 'record', description }) => `| \`${table}\` | \`${name}\` | ${type} | ${origin} | ${description} |`,
    ),
  );
  return ['| Table | Column | Type | Origin | Meaning |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}
