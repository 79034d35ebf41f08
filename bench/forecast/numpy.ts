import { join } from 'node:path';

export const PROGRAM = join(import.meta.dirname, 'walk_forward.py');
