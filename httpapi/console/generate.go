package console

// Browsers load the console's scripts as they are written. The one exception is
// assets/vendor/codemirror.js, the editor that they use: "go generate" makes it, with Node.js
// and npm, from the packages that web/package-lock.json names. It is checked in, so that a
// build needs Go alone.

//go:generate npm ci --prefix web --ignore-scripts --no-fund --no-audit --silent
//go:generate -command esbuild go run github.com/evanw/esbuild/cmd/esbuild@v0.28.2 --bundle --minify --format=esm --target=es2022
//go:generate esbuild web/codemirror.mjs --legal-comments=none --metafile=web/node_modules/.codemirror.json --outdir=assets/vendor
//go:generate node web/vendor.mjs
