// Loaded first by each process of the service: by `bin/start.mjs`, and through NODE_OPTIONS by the processes that it starts.
import { avoidMaglev } from '../lib/compilers.mjs';
import { useBundle } from './bundle.mjs';

avoidMaglev();
useBundle();

const option = `--import=${import.meta.url}`;
const options = process.env.NODE_OPTIONS ?? '';
if (!options.includes(option)) process.env.NODE_OPTIONS = `${options} ${option}`;
