export type ColumnType = 'string' | 'int' | 'double' | 'boolean' | 'date' | 'timestamp';

export type CellValue = string | number | boolean | Date | null;

export interface DatasetColumn<Row> {
  name: string;
  type: ColumnType;
  /** With its unit. */
  description: string;
  /** `prices`: derived from prices of third parties, mostly as a median of venues. Default: the record's own value. */
  origin?: 'prices';
  value(row: Row): CellValue;
}

export interface DatasetTable<Row> {
  title: string;
  description: string;
  columns: readonly DatasetColumn<Row>[];
}

/** Encodes a table in batches of rows. */
export interface TableEncoder<Row> {
  add(rows: readonly Row[]): void;
  finish(): Buffer;
}
