// What the extension's code must keep to. No comment in the code can switch a rule off.

import { defineConfig } from "eslint/config";
import { configs } from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist/", "bin/", "out/", "node_modules/", "*.mjs"] },
  {
    files: ["src/**/*.ts", "tests/**/*.ts"],
    extends: [configs.strictTypeChecked, configs.stylisticTypeChecked],
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "error" },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // `void` would be a waiver: whoever starts something says what becomes of its failure.
      "@typescript-eslint/no-floating-promises": ["error", { ignoreVoid: false }],
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      // Numbers in messages are no doubt about types.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `() => log.show()` is plain; what is forbidden is to use the nothing it gives.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "max-lines": ["error", 300],
      "no-console": "error",
      eqeqeq: "error",
    },
  },
);
