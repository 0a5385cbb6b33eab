"""How good the memory is: public measures through plug-ins, and own labelled cases."""
