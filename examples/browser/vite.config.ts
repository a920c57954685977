// Finds the package as it is built in this repository, by the paths in tsconfig.json. Where it is installed, leave this out.
// biome-ignore lint/style/noDefaultExport: Vite asks for it
export default { resolve: { tsconfigPaths: true } };
