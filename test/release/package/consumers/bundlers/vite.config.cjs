// Without the polyfill, which looks for a document, the bundle runs in Node as well.
module.exports = { build: { modulePreload: false } };
