import { z } from 'zod';

/** An answer that is not described yet. */
export const ANYTHING = z.any();
