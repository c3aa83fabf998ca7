"""The folder of op2jit's compiler plugin: op2jit finds it here."""
