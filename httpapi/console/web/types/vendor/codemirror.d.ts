export * from "../../codemirror.mjs";
