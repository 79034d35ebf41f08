/** Ends the process with the help text where it is asked for: a launcher then starts nothing. */
export function printHelpIfAsked(text) {
  if (!process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) return;
  console.log(text);
  process.exit(0);
}
