/** The least major version that every entry point needs: below it types are not stripped and sockets behave differently. */
const least = 24;

if (Number(process.versions.node.split(".")[0]) < least) {
  console.error(
    `signet needs Node ${least} or newer, this is ${process.version}. Start it with \`npm start\` or \`npm run signet\`: they use the Node that npm installed with it.`,
  );
  process.exit(1);
}
